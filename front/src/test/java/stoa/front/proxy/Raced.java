package stoa.front.proxy;

import stoa.Shared;

/// A class of which several loaders have their own.
@Shared(name = "Raced")
public class Raced {
  /// Nothing.
  protected Raced() {}

  /// Always that.
  public int zero() {
    return 0;
  }
}
