/// Shared objects with which programs coordinate. Open them with [stoa.Stoa#get], or create those
/// that begin with a number with [stoa.Stoa#create]:
///
/// ```
/// leases and fencing tokens   SharedLock, SharedReadWriteLock, SharedElection
/// counts                      SharedSemaphore, SharedLatch, SharedRateLimiter
/// parties                     SharedBarrier, SharedPhaser
/// values                      SharedPromise, SharedTopic, SharedReference, SharedLong, SharedAdder
/// ```
///
/// Each is a small class over [stoa.Call#await], and a model of how to write another one. The
/// blocking queues are collections: see [stoa.Stoa#blockingQueue(String, Class)].
package stoa.coordination;
