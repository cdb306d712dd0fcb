package stoa.node.access;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// All identities of a server, as one reading of its file has them. Immutable.
///
/// A file has one statement a line; a line that begins with `#` is a comment:
///
/// ```
/// NAME token sha256:HASH [until DATE]
/// NAME certificate sha256:FINGERPRINT [until DATE]
/// NAME certificate SUBJECT [until DATE]
/// NAME certificate * [until DATE]
/// NAME may ROLE,... [on TYPE,...]
/// NAME until DATE
/// ```
///
/// A date such as `2027-01-31` means the end of that day in UTC; a time is written
/// `2027-01-31T12:00:00Z`.
public final class Identities {
  /// The most bytes of a file.
  public static final int BYTES_MAX = 4 << 20;

  /// The name under which the client of a server's own door for HTTP reads the code of the store.
  static final String OWN = "stoa.server";

  private static final String ANYBODY = "anybody";
  private static final String TOKENS = "token-";
  private static final String ANY = "*";
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._@-]{0,99}");
  private static final Pattern HASH = Pattern.compile(Proof.HASH + "[0-9a-f]{64}");
  private static final Pattern TYPE = Pattern.compile("[^\\s,*]+\\*?|\\*");

  private static final List<Grant> ALL =
      Arrays.stream(Role.values()).map(role -> new Grant(role, List.of())).toList();

  /// The identities of a server whose clients prove nothing: one, which has all roles.
  public static final Identities OPEN = open();

  /// A known proof.
  ///
  /// @param identity of a client with the proof
  /// @param untilMillis when the proof ends, in milliseconds since 1970
  record Known(Identity identity, long untilMillis) {
    boolean isOver(long nowMillis) {
      return nowMillis >= untilMillis;
    }
  }

  private final boolean open;
  private final String remedy;
  private final Map<String, Identity> byName;
  private final Map<String, Known> byProof;

  private Identities(
      boolean open, String remedy, Map<String, Identity> byName, Map<String, Known> byProof) {
    this.open = open;
    this.remedy = remedy;
    this.byName = byName;
    this.byProof = byProof;
  }

  private static Identities open() {
    var anybody = new Identity(ANYBODY, Long.MAX_VALUE, ALL);
    return new Identities(true, "", Map.of(ANYBODY, anybody), Map.of());
  }

  /// Returns the identities of a server that knows tokens alone: each is one, with all roles.
  ///
  /// @param tokens of which clients send one; none when they prove nothing
  /// @param deploying those whose clients may deploy; none when all may
  public static Identities ofTokens(List<String> tokens, Set<String> deploying) {
    if (tokens.isEmpty()) return OPEN;
    if (!tokens.containsAll(deploying)) {
      throw new IllegalArgumentException("a token that may deploy is not among the tokens");
    }
    var byName = new LinkedHashMap<String, Identity>();
    var byProof = new HashMap<String, Known>();
    for (int i = 0; i < tokens.size(); i++) {
      String token = tokens.get(i);
      boolean deploys = deploying.isEmpty() || deploying.contains(token);
      List<Grant> grants =
          ALL.stream().filter(grant -> deploys || grant.role() != Role.DEPLOY).toList();
      var identity = new Identity(TOKENS + (i + 1), Long.MAX_VALUE, grants);
      byName.put(identity.name(), identity);
      byProof.put(key(Proof.token(token)), new Known(identity, Long.MAX_VALUE));
    }
    return new Identities(false, "use that of the server's --token-file", byName, byProof);
  }

  /// Reads a file.
  ///
  /// @param source its name, for messages
  /// @throws IllegalArgumentException when it is malformed, with the number of the line
  public static Identities parse(String text, String source) {
    var reading = new Reading(source);
    text.lines().forEach(reading::line);
    return reading.end();
  }

  /// Returns whether clients prove nothing.
  public boolean isOpen() {
    return open;
  }

  /// Returns how many there are.
  public int count() {
    return byName.size();
  }

  /// Returns what a client without a known proof can do.
  String remedy() {
    return remedy;
  }

  /// Returns what is known of a proof; null when it is none that counts here.
  @Nullable Known find(Proof proof) {
    if (open) return new Known(byName.values().iterator().next(), Long.MAX_VALUE);
    return switch (proof) {
      case Proof.None _ -> null;
      case Proof.Token _ -> byProof.get(key(proof));
      case Proof.Certificate(_, String subject) -> {
        Known known = byProof.get(key(proof));
        if (known == null) known = byProof.get(certificate(subject));
        yield known == null ? byProof.get(certificate(ANY)) : known;
      }
      case Proof.Vouched(String name) -> named(name);
    };
  }

  private @Nullable Known named(String name) {
    if (name.equals(OWN)) {
      var own = new Identity(OWN, Long.MAX_VALUE, List.of(new Grant(Role.READ, List.of())));
      return new Known(own, Long.MAX_VALUE);
    }
    Identity identity = byName.get(name);
    return identity == null ? null : new Known(identity, identity.untilMillis());
  }

  /// Returns whether the bearer of a certificate may be one of the servers that keep the store.
  public boolean isMember(Proof.Certificate certificate, long nowMillis) {
    if (open) return true;
    Known known = find(certificate);
    return known != null && !known.isOver(nowMillis) && known.identity().has(Role.MEMBER, null);
  }

  private static String key(Proof proof) {
    return switch (proof) {
      case Proof.Token(String hash) -> "token " + hash;
      case Proof.Certificate(String hash, _) -> certificate(hash);
      case Proof.None _, Proof.Vouched _ -> throw new IllegalArgumentException("no key " + proof);
    };
  }

  private static String certificate(String named) {
    return "certificate " + named;
  }

  /// A file, on its way in.
  private static final class Reading {
    private final String source;
    private final Map<String, Draft> drafts = new LinkedHashMap<>();
    private final Map<String, Long> ends = new HashMap<>();
    private final Map<String, String> owners = new HashMap<>();
    private int number;

    private static final class Draft {
      private final List<Grant> grants = new ArrayList<>();
      private long until = Long.MAX_VALUE;
      private boolean proves;
    }

    Reading(String source) {
      this.source = source;
    }

    private IllegalArgumentException wrong(String why) {
      return new IllegalArgumentException(source + ", line " + number + ": " + why);
    }

    void line(String text) {
      number++;
      String line = text.strip();
      if (line.isEmpty() || line.startsWith("#")) return;
      String[] words = line.split("\\s+", 3);
      if (words.length < 3) {
        throw wrong(
            "has "
                + words.length
                + " words, as in a file of --token-file; here a line is NAME token sha256:HASH,"
                + " NAME certificate SUBJECT, NAME may ROLES or NAME until DATE. ./stoa identity"
                + " NAME makes a token and its line");
      }
      String name = words[0];
      if (!NAME.matcher(name).matches() || name.equals(OWN)) {
        throw wrong(name + " is no name; use up to 100 letters, digits and . _ @ -");
      }
      Draft draft = drafts.computeIfAbsent(name, _ -> new Draft());
      switch (words[1]) {
        case "token", "certificate" -> proof(name, draft, words[1], words[2]);
        case "may" -> may(draft, words[2]);
        case "until" -> draft.until = date(words[2]);
        default -> throw wrong(words[1] + " is none of token, certificate, may and until");
      }
    }

    private void proof(String name, Draft draft, String kind, String text) {
      long until = Long.MAX_VALUE;
      String proof = text;
      int end = text.lastIndexOf(" until ");
      if (end >= 0) {
        proof = text.substring(0, end).strip();
        until = date(text.substring(end + " until ".length()).strip());
      }
      boolean hashed = HASH.matcher(proof).matches();
      if (kind.equals("token") && !hashed) {
        throw wrong(
            "the token is not hashed; write token sha256: and 64 hexadecimal digits, as ./stoa"
                + " identity NAME prints them");
      }
      if (proof.startsWith(Proof.HASH) && !hashed) {
        throw wrong(proof + " is no hash; it has 64 hexadecimal digits in small letters");
      }
      if (kind.equals("certificate") && !hashed && !proof.equals(ANY)) proof = subject(proof);
      String key = kind + " " + proof;
      String other = owners.putIfAbsent(key, name);
      if (other != null) throw wrong(key + " belongs to " + other + " already");
      ends.put(key, until);
      draft.proves = true;
    }

    private String subject(String text) {
      try {
        return new javax.security.auth.x500.X500Principal(text).getName();
      } catch (IllegalArgumentException malformed) {
        throw wrong(
            text
                + " is no subject of a certificate; write one such as CN=alice,O=Example, or"
                + " sha256: and the fingerprint");
      }
    }

    private void may(Draft draft, String text) {
      String[] words = text.split("\\s+", 4);
      List<String> types = List.of();
      if (words.length == 3 && words[1].equals("on")) {
        types = List.of(words[2].split(",", -1));
        for (String type : types) {
          if (!TYPE.matcher(type).matches()) {
            throw wrong(
                "\"" + type + "\" is no type; write its stored name, or bank.* for several");
          }
        }
      } else if (words.length != 1) {
        throw wrong("write may ROLE,... or may ROLE,... on TYPE,...; without spaces at the commas");
      }
      for (String word : words[0].split(",", -1)) {
        try {
          draft.grants.add(new Grant(Role.of(word), types));
        } catch (IllegalArgumentException unknown) {
          throw wrong(String.valueOf(unknown.getMessage()));
        }
      }
    }

    private long date(String text) {
      try {
        if (text.indexOf('T') >= 0) return Instant.parse(text).toEpochMilli();
        return LocalDate.parse(text)
            .plusDays(1)
            .atStartOfDay(ZoneOffset.UTC)
            .toInstant()
            .toEpochMilli();
      } catch (DateTimeParseException malformed) {
        throw wrong(text + " is no date; write 2027-01-31, or 2027-01-31T12:00:00Z");
      }
    }

    Identities end() {
      if (drafts.isEmpty()) {
        throw new IllegalArgumentException(
            source + " has no identity; ./stoa identity NAME makes a token and its lines");
      }
      var byName = new LinkedHashMap<String, Identity>();
      drafts.forEach((name, draft) -> {
        if (!draft.proves || draft.grants.isEmpty()) {
          throw new IllegalArgumentException(
              source
                  + ": "
                  + name
                  + " has no "
                  + (draft.proves ? "role; add a line NAME may " + Role.words() : "proof; add a")
                  + (draft.proves ? "" : " line NAME token sha256:HASH or NAME certificate"));
        }
        byName.put(name, new Identity(name, draft.until, draft.grants));
      });
      var byProof = new HashMap<String, Known>();
      owners.forEach((key, name) -> {
        Identity identity = java.util.Objects.requireNonNull(byName.get(name));
        long end = java.util.Objects.requireNonNull(ends.get(key));
        long until = Math.min(end, identity.untilMillis());
        byProof.put(key, new Known(identity, until));
      });
      return new Identities(
          false,
          "use a token or a certificate that the server's file of --identities has",
          byName,
          byProof);
    }
  }
}
