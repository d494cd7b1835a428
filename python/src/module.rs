//! What `import` calls, by hand what the macro of pyo3 makes. Unsafe code: Python promises that it
//! calls this attached, once at a time, and takes what is returned.

use std::ptr;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyModule;

use crate::errors::{InputError, Interrupted, Misuse};
use crate::{hunts, protocols, session, traces};

/// The definition of the module for Python. Python writes to it under its own lock.
static mut DEFINITION: ffi::PyModuleDef = ffi::PyModuleDef {
    m_base: ffi::PyModuleDef_HEAD_INIT,
    m_name: c"tribunal_native".as_ptr(),
    m_doc: c"The native half of the package; use `tribunal` instead.".as_ptr(),
    m_size: -1,
    m_methods: ptr::null_mut(),
    m_slots: ptr::null_mut(),
    m_traverse: None,
    m_clear: None,
    m_free: None,
};

/// Called by `import tribunal.tribunal_native`.
///
/// # Safety
///
/// Only Python may call it, as it does.
#[allow(non_snake_case)] // Python looks for this name
#[unsafe(no_mangle)]
pub unsafe extern "C" fn PyInit_tribunal_native() -> *mut ffi::PyObject {
    // SAFETY: Python calls this with its lock held, which is what attached means, and the definition
    // is not used by anything else.
    let (py, made) =
        unsafe { (Python::assume_attached(), ffi::PyModule_Create(&raw mut DEFINITION)) };
    // SAFETY: what was made is a new reference, or null with an exception set.
    let module = unsafe { Bound::from_owned_ptr_or_err(py, made) };
    let filled = module.and_then(|module| {
        let module = module.cast_into::<PyModule>()?;
        fill(&module)?;
        Ok(module)
    });
    match filled {
        Ok(module) => module.into_ptr(),
        Err(error) => {
            error.restore(py);
            ptr::null_mut()
        }
    }
}

fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("InputError", py.get_type::<InputError>())?;
    module.add("Interrupted", py.get_type::<Interrupted>())?;
    module.add("Misuse", py.get_type::<Misuse>())?;
    traces::add(module)?;
    session::add(module)?;
    protocols::add(module)?;
    hunts::add(module)
}
