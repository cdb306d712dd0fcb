/// Connections of the self-service tree between processes: [stoa.links.TreeServer] beside the root,
/// [stoa.links.TreeClient] at a member. [docs/wire.md](../../../../../../docs/wire.md) has the
/// bytes.
package stoa.links;
