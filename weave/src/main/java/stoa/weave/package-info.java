/// Changes users' class files: it inserts checks by which a run of their code can be stopped, see
/// [stoa.spi.Cancellation], and makes `new` and static fields of shared classes shared objects, see
/// [stoa.Shared].
package stoa.weave;
