//! How does this protocol run fast? Typed Murphi models to machine code, in-process.
