//! What a person sees: text, JSON, DOT and SVG.
