/// Identities: how clients prove themselves to a server, and what their roles allow. Other classes
/// of a server name the need of a request; this package decides.
package stoa.node.access;
