/// The shared objects that keep timers and fire them.
///
/// Timers are spread over 256 parts by the streams of the objects that they call. Of each part, a
/// [stoa.timers.TimersObject] keeps the timers, and a [stoa.timers.FiringObject] makes their calls.
/// These are two objects because the called methods may schedule again: while a method of one
/// object waits for a method of another, no other call of the first object runs.
package stoa.timers;
