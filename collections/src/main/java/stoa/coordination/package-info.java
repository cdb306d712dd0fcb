/// Shared objects with which programs coordinate: a lock, a semaphore and a latch. Open them with
/// [stoa.Stoa#get].
///
/// Each is a small class over [stoa.Call#await], and a model of how to write another one.
package stoa.coordination;
