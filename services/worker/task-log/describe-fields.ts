const SECRET_FIELDS = new Set(['authorization', 'cookie', 'secret', 'apikey', 'password', 'token', 'key']);
const MAX_LEVELS = 6;

/** The fields of a log line as JSON without secrets, of at most `max` characters; null when there are none, or no JSON can be made. */
export function describeFields(fields: object, redact: (text: string) => string, max: number): string | null {
  try {
    const json = JSON.stringify(plain(fields, 0));
    if (json === '{}') return null;
    const redacted = redact(json);
    return redacted.length <= max ? redacted : JSON.stringify({ omitted: `${redacted.length} characters of fields` });
  } catch {
    // A getter of the agent's that throws, or a BigInt.
    return null;
  }
}

/** An error says nothing as JSON, and what is nested without end cannot be written. */
function plain(value: unknown, level: number): unknown {
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (typeof value !== 'object' || value === null) return value;
  if (level >= MAX_LEVELS) return '[nested]';
  if (Array.isArray(value)) return value.map((item) => plain(item, level + 1));
  const entries = Object.entries(value).map(([name, item]) => [
    name,
    SECRET_FIELDS.has(name.toLowerCase()) ? '[redacted]' : plain(item, level + 1),
  ]);
  return Object.fromEntries(entries) as unknown;
}
