//! The loop on the protocols we ship.
