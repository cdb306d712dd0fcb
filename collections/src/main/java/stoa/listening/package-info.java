/// The shared objects that keep the listeners of objects, and tags.
///
/// [stoa.listening.ListenersObject] has the names of all listeners. Each group has, for each
/// listener, a [stoa.listening.DeliveryObject]: it knows how far the changes of the group's objects
/// are told, and calls the listener. A [stoa.listening.TagObject] has the objects of its group that
/// have a tag.
package stoa.listening;
