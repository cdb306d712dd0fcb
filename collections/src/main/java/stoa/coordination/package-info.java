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
/// Any number of threads and programs call one object at once: each call is one step, durable when
/// it returns. A method with [stoa.Awaits] waits without a limit of time unless the caller sets one
/// by [stoa.Stoa#within], and fails as [stoa.Call#await] says; in a transaction and in a method of
/// another object it is refused. A lease is positive, and counts from the time at which the store
/// logged the call; another one is an [IllegalArgumentException].
///
/// Each is a small class over [stoa.Call#await], and a model of how to write another one. The
/// blocking queues are collections: see [stoa.Stoa#blockingQueue(String, Class)].
package stoa.coordination;
