//! MPP, the Machine Payments Protocol: what its pairings share.
