/// What an engine implements. Programs that use Stoa do not need it.
package stoa.spi;
