package stoa.front.marshal;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.List;
import stoa.Corrupt;
import stoa.front.types.Hashing;

/// A declared type in the text of a schema: `java.util.Map<java.lang.String;v.Part[]>`.
///
/// The bound stands for a wildcard or type variable, so that the text does not contain the name of
/// a variable. Schemas of earlier releases have no arguments.
///
/// @param name the binary name of a class, or of a primitive type; that of the elements in an array
/// @param dimensions of the array, 0 for none
record TypeText(String name, List<TypeText> arguments, int dimensions) {
  private static final String ARRAY = "[]";

  static TypeText of(Type type) {
    return switch (type) {
      case Class<?> c when c.isArray() -> of(c.getComponentType()).array();
      case ParameterizedType p -> {
        var arguments = new ArrayList<TypeText>();
        for (Type argument : p.getActualTypeArguments()) arguments.add(of(argument));
        yield new TypeText(Hashing.erasure(p).getName(), List.copyOf(arguments), 0);
      }
      case GenericArrayType a -> of(a.getGenericComponentType()).array();
      case WildcardType w -> of(w.getUpperBounds()[0]);
      default -> {
        Class<?> erasure = Hashing.erasure(type);
        yield erasure.isArray()
            ? of(erasure.getComponentType()).array()
            : new TypeText(erasure.getName(), List.of(), 0);
      }
    };
  }

  static TypeText parse(String text) {
    var reader = new Reader(text);
    TypeText parsed = reader.type();
    if (reader.at != text.length()) throw reader.wrong();
    return parsed;
  }

  private TypeText array() {
    return new TypeText(name, arguments, dimensions + 1);
  }

  /// Returns the type of an array's elements.
  TypeText element() {
    return new TypeText(name, arguments, dimensions - 1);
  }

  /// Returns the text without type arguments.
  String erasure() {
    return name + ARRAY.repeat(dimensions);
  }

  @Override
  public String toString() {
    if (arguments.isEmpty()) return erasure();
    var text = new StringBuilder(name).append('<');
    for (int i = 0; i < arguments.size(); i++) {
      if (i > 0) text.append(';');
      text.append(arguments.get(i));
    }
    return text.append('>').append(ARRAY.repeat(dimensions)).toString();
  }

  private static final class Reader {
    private final String text;
    private int at;

    Reader(String text) {
      this.text = text;
    }

    TypeText type() {
      int start = at;
      while (at < text.length() && "<>;[".indexOf(text.charAt(at)) < 0) at++;
      if (at == start) throw wrong();
      String name = text.substring(start, at);
      var arguments = new ArrayList<TypeText>();
      if (at < text.length() && text.charAt(at) == '<') {
        do {
          at++;
          arguments.add(type());
        } while (at < text.length() && text.charAt(at) == ';');
        if (at == text.length() || text.charAt(at++) != '>') throw wrong();
      }
      int dimensions = 0;
      while (text.startsWith(ARRAY, at)) {
        at += ARRAY.length();
        dimensions++;
      }
      return new TypeText(name, List.copyOf(arguments), dimensions);
    }

    Corrupt wrong() {
      return new Corrupt("a schema names the type \"" + text + "\", which is none");
    }
  }
}
