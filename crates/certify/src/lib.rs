//! Is this evidence right? The small trusted kernel.
