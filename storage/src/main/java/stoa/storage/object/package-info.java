/// Versioned objects: the content of their notes in the log, and reading and writing them.
package stoa.storage.object;
