/// Shared objects on the store: their execution, composition and history.
package stoa.objects;
