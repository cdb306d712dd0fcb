/// Changes users' class files: it inserts checks that can stop a run of their code, see
/// [stoa.spi.Cancellation], and makes `new` and static fields of shared classes shared objects, see
/// [stoa.Shared].
package stoa.weave;
