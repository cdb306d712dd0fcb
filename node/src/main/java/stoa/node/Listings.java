package stoa.node;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The listings of a session of which the client has not read all. Guarded by its session.
final class Listings {
  private static final int LISTINGS_MAX = 64;

  /// The rest of a listing.
  ///
  /// @param keys the remaining keys
  /// @param told how many were sent
  record Rest(Iterator<byte[]> keys, int told) {}

  private final Map<String, Rest> rests =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Rest> eldest) {
          return size() > LISTINGS_MAX;
        }
      };
  private long numbers;

  /// Keeps one, and returns the token to ask for it with.
  ///
  /// @param owner of the store: a later server distinguishes the tokens of an earlier one from its
  ///   own
  String keep(Rest rest, long owner) {
    String token = owner + "." + ++numbers + ":" + rest.told();
    rests.put(token, rest);
    return token;
  }

  /// Removes one; null when it is gone.
  @Nullable Rest take(String token) {
    return rests.remove(token);
  }

  /// Returns how many keys of the listing of a token were sent.
  static int told(String token) {
    try {
      int told = Integer.parseInt(token.substring(token.indexOf(':') + 1));
      if (told >= 0) return told;
    } catch (NumberFormatException e) {
      // Handled below.
    }
    throw new IllegalArgumentException("\"" + token + "\" is no token of a listing");
  }
}
