import { useState } from 'react';

/** The key whose data a query shows: while those of `key` are read, and older ones stand in for them, it is the key of these. */
export function useDataKey(key: string, isPlaceholderData: boolean): string {
  const [shown, setShown] = useState(key);
  if (!isPlaceholderData && shown !== key) setShown(key);
  return shown;
}
