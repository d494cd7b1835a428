//! The native half of the Python package: each job of the library as a function, with the GIL
//! released while it works, Ctrl-C obeyed, and errors as exceptions with line and column. The other
//! half, `tribunal/__init__.py`, has the classes and turns what Python has into what these take.
//!
//! pyo3 is used without its macros (Cargo.toml says why): functions are closures over the tuple of
//! their arguments, and what Python holds of Rust is in capsules.

/// Adds a function to a module: its name, its arguments with their types, what it does.
macro_rules! function {
    ($module:expr, $name:literal, |$py:ident, ($($argument:ident : $kind:ty),* $(,)?)| $body:expr) => {{
        let closure = |arguments: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| {
            let $py = arguments.py();
            let ($($argument,)*): ($($kind,)*) = arguments.extract()?;
            $body
        };
        let made = PyCFunction::new_closure($module.py(), Some($name), None, closure)?;
        $module.add_function(made)?;
    }};
}

mod capsule;
mod errors;
mod hunts;
mod module;
mod protocols;
mod session;
mod traces;
mod work;
