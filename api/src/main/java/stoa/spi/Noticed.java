package stoa.spi;

/// A shared object of whose changes the engine takes notice: it keeps a listener of objects.
public interface Noticed {}
