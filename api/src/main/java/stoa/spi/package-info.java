/// The interfaces that an engine implements. Programs that use Stoa do not need them.
package stoa.spi;
