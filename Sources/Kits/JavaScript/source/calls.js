// The methods, by the table that is generated from the protos.
import { methods } from "../Generated/methods.js";
import { shapes } from "../Generated/shapes.js";

const lowerFirst = (name) => name[0].toLowerCase() + name.slice(1);

/** What the table says of a method such as "AccountService/GetMe"; nothing of one of tomorrow. */
export function traitsOf(method) {
  const [service, name] = method.split("/");
  const [letters = "", content] = (methods[service]?.[name] ?? "").split(" ");
  return {
    response: `${name}Response`,
    content,
    isPublic: letters.includes("a"),
    hasKey: letters.includes("k"),
    // Idempotent, or with a key: it may be sent again after it may have arrived.
    isRepeatable: /[ik]/.test(letters),
  };
}

/** A function for each method: `functionsOf(client).getMe(request, options)`. */
export function functionsOf(client) {
  const found = {};
  for (const service in methods) {
    for (const name in methods[service]) {
      const method = `${service}/${name}`;
      const { content } = traitsOf(method);
      // A response of one message is that message.
      found[lowerFirst(name)] = async (request, options) => {
        const response = await client.call(method, request, options);
        return content ? response[content] : response;
      };
    }
  }
  return found;
}

/** Adds what JSON of protobuf leaves out: empty lists, false, 0, and empty texts that aren't optional. */
export function complete(type, value) {
  const completed = { ...value };
  for (const field of shapes[type]?.split(" ") ?? []) {
    const [name, kind] = field.split(":");
    const found = completed[name];
    if (kind[0] === "*") completed[name] = (found ?? []).map((each) => (shapes[kind.slice(1)] ? complete(kind.slice(1), each) : each));
    else if (kind === "b") completed[name] = found ?? false;
    else if (kind === "n") completed[name] = Number(found ?? 0);
    else if (kind === "o") completed[name] = found === undefined ? found : Number(found);
    else if (kind === "s") completed[name] = found ?? "";
    else if (found !== undefined) completed[name] = shapes[kind] === undefined ? found : complete(kind, found);
    else if (kind.includes("_")) completed[name] = kind;
  }
  return completed;
}
