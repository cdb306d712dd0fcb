@org.jspecify.annotations.NullMarked
package stoa.client;
