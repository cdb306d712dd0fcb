package stoa.front.marshal;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/// The losses of a store through a change of its classes that no rule covers, in the words in which
/// a refusal names it and an operator accepts it: `shop.Cart.note removed` when the class no longer
/// has a field, component, constant or method, and `shop.Cart.note reset` when it cannot take the
/// stored values of a field, so that the field gets the value of its initializer.
///
/// The name in front is the one under which the store knows the class. An accepted loss is in the
/// dictionary, as `accepted LOSS`, a line feed, and the stored name of the type with which it was
/// accepted. It stays accepted.
public final class Loss {
  /// In front of an accepted loss in the dictionary.
  public static final String ACCEPTED = "accepted ";

  private static final String SCHEMA = "schema ";
  private static final String ENUM = "enum ";
  private static final Pattern METHOD = Pattern.compile("method (.+?)#(.+)");

  private Loss() {}

  /// A field, component, constant or method that is there no more.
  ///
  /// @param owner the stored name of its class
  public static String removed(String owner, String member) {
    return owner + "." + member + " removed";
  }

  /// A field that does not take what is stored.
  ///
  /// @param owner the stored name of its class
  public static String reset(String owner, String field) {
    return owner + "." + field + " reset";
  }

  /// Returns the offer that a refusal adds to its rules.
  static String offer(String loss) {
    return "; or accept the loss \"" + loss + "\"";
  }

  /// The name in the dictionary of a loss that is accepted.
  ///
  /// @param type the stored name of the type with which it is accepted, empty when it is none
  public static String accepted(String loss, String type) {
    return ACCEPTED + loss + "\n" + type;
  }

  /// The loss of such a name, without [#ACCEPTED].
  public static String loss(String accepted) {
    return accepted.substring(0, accepted.indexOf('\n'));
  }

  /// The type of such a name.
  public static String type(String accepted) {
    return accepted.substring(accepted.indexOf('\n') + 1);
  }

  /// The losses that are accepted.
  public static Set<String> accepted(List<String> names) {
    var found = new TreeSet<String>();
    for (String name : names) {
      if (name.startsWith(ACCEPTED)) found.add(loss(name.substring(ACCEPTED.length())));
    }
    return found;
  }

  /// All that a class could lose of what a description says.
  static void possible(String owner, String kind, String body, Collection<String> to) {
    for (String part : body.isEmpty() ? new String[0] : body.split(",", -1)) {
      if (kind.equals("enum")) {
        to.add(removed(owner, part));
        continue;
      }
      int colon = part.lastIndexOf(':');
      String field = colon < 0 ? part : part.substring(0, colon);
      to.add(removed(owner, field));
      to.add(reset(owner, field));
    }
  }

  /// All that the classes of a store could lose.
  ///
  /// @param names those of its dictionary
  public static Set<String> possible(List<String> names) {
    var possible = new TreeSet<String>();
    for (String name : names) {
      int open = name.indexOf('{');
      boolean described = open > 0 && name.indexOf('}') == name.length() - 1;
      if (described && name.startsWith(SCHEMA)) {
        possible(name.substring(SCHEMA.length(), open), "schema", body(name, open), possible);
      } else if (described && name.startsWith(ENUM)) {
        possible(name.substring(ENUM.length(), open), "enum", body(name, open), possible);
      } else {
        var method = METHOD.matcher(name);
        if (method.matches()) possible.add(removed(method.group(1), method.group(2)));
      }
    }
    return possible;
  }

  private static String body(String name, int open) {
    return name.substring(open + 1, name.length() - 1);
  }
}
