package stoa.log;

import stoa.LogAddress;

/// Log addresses issued for one batch: `count` of them, from `first` on, in one epoch.
///
/// @param first the address of the batch's first entry
/// @param count how many addresses were issued
public record Token(LogAddress first, int count) {
  /// Returns the address of the batch's entry at an index.
  public LogAddress at(int index) {
    return new LogAddress(first.epoch(), first.counter() + index);
  }
}
