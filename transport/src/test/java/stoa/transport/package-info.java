@org.jspecify.annotations.NullMarked
package stoa.transport;
