/** The fields that are there: null and false stand for what is not. */
export function given<Fields extends object>(fields: Fields): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined | null | false> } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all others are gone
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== false)) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined | null | false>;
  };
}
