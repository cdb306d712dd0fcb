/// The client of a store in a server: [stoa.Stoa] over one conversation.
///
/// The client is thin. It encodes calls as the engine in the process does, and the server runs
/// them; of the user's code, only the bodies of transactions and the accessors of local and cached
/// views run here.
@org.jspecify.annotations.NullMarked
package stoa.client;
