/// Versioned objects: what their notes in the log say, and how they are read and written.
package stoa.storage.object;
