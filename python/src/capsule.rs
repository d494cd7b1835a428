//! What Python holds of Rust: a value in a capsule, and a look at it.

use std::ffi::CStr;

use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

/// A kind of value that Python holds. Each has a name, which distinguishes capsules.
pub(crate) trait CapsuleValue: Send + Sync + 'static {
    /// The name of its capsules.
    const NAME: &'static CStr;
}

/// A capsule with this value, which is dropped with it.
pub(crate) fn hold<T: CapsuleValue>(py: Python<'_>, value: T) -> PyResult<Py<PyAny>> {
    Ok(PyCapsule::new_with_value(py, value, T::NAME)?.into_any().unbind())
}

/// The value of a capsule; an exception if it is of another kind.
pub(crate) fn held<'a, T: CapsuleValue>(capsule: &'a Bound<'_, PyAny>) -> PyResult<&'a T> {
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(T::NAME))?;
    // SAFETY: capsules of this name are made by `hold` alone, with a T; the value lives as long as the
    // capsule, which is borrowed, is never moved or changed but through `&T`, and T is Sync.
    Ok(unsafe { pointer.cast::<T>().as_ref() })
}
