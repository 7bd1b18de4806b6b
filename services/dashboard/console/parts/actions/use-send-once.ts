import { useState } from 'react';
import { randomKey } from '../../api/api.ts';
import { createSendOnce, type SendOnce } from './send-once.ts';

/** A function that sends each content of a form once, also when the person sends it again after a failure. */
export function useSendOnce({ withinMs = Infinity } = {}): SendOnce {
  const [sendOnce] = useState(() => createSendOnce({ newKey: randomKey, withinMs }));
  return sendOnce;
}
