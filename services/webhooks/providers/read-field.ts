/** A field of a payload by its own name; undefined when the payload is no object or lacks it. */
export function readField(payload: unknown, name: string): unknown {
  return typeof payload === 'object' && payload !== null ? Object.getOwnPropertyDescriptor(payload, name)?.value : undefined;
}
