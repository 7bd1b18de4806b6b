interface Failing {
  readonly error?: { readonly code: string; readonly message: string } | null | undefined;
}

/** How often the failure of an attempt came in a row up to it; 0 where the next attempt has the same one, which says it. */
export function timesInARow(attempts: readonly Failing[], at: number): number {
  const isSame = (other: number): boolean => {
    const [one, next] = [attempts[at]?.error, attempts[other]?.error];
    return Boolean(one) && one?.code === next?.code && one?.message === next?.message;
  };
  if (isSame(at + 1)) return 0;
  let first = at;
  while (first > 0 && isSame(first - 1)) first -= 1;
  return at - first + 1;
}
