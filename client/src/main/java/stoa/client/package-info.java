/// The client of a store that lives in a server: [stoa.Stoa] over one conversation.
///
/// The client is thin. It encodes calls as the engine in the process does, and the server runs
/// them; nothing that a user wrote runs here but the bodies of transactions, and the accessors of
/// local and cached views.
@org.jspecify.annotations.NullMarked
package stoa.client;
