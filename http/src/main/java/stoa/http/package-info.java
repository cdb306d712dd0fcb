/// The objects of a server as JSON over HTTP, and their description in OpenAPI.
@org.jspecify.annotations.NullMarked
package stoa.http;
