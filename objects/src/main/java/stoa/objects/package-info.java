/// Shared objects on the store: marshalling, proxies, composition, history.
package stoa.objects;
