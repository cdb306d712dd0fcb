/// How handlers call other keys: of their own store (`Nesting`), of others (`CrossGroupCalls`), and
/// as others call keys here (`IncomingCalls`). What an earlier process has begun goes on
/// (`Resuming`).
package stoa.store.nesting;
