/** The text of a file that an attempt left. */
export async function textOf(file: { readonly read: () => AsyncIterable<Uint8Array> } | undefined): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of file?.read() ?? []) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
