import { useEffect, useRef, useState } from 'react';
import type { Upload } from '#shared/client/openapi.gen.ts';
import { problemText } from '../../api/api-problem.ts';
import { uploadFile } from './upload-file.ts';

/** A file that a person picked for the next message. */
export interface Attached {
  readonly key: number;
  readonly file: File;
  readonly state: 'sending' | 'ready' | 'failed';
  /** The part of its bytes that was sent, from 0 to 1. */
  readonly part: number;
  readonly upload: Upload | null;
  /** Why it was not uploaded; null unless it failed. */
  readonly problem: string | null;
}

export interface Attachments {
  readonly items: readonly Attached[];
  /** Uploads files at once, so that the message does not wait for them. */
  add: (files: Iterable<File>) => void;
  remove: (key: number) => void;
  /** Empties the list, and returns what was in it. */
  take: () => readonly Attached[];
  /** Puts back what was taken, when the message was not accepted. */
  restore: (items: readonly Attached[]) => void;
}

/** The files of the next message, which upload while the person types. */
export function useAttachments(): Attachments {
  const [items, setItems] = useState<readonly Attached[]>([]);
  const lastKey = useRef(0);
  const uploads = useRef(new Map<number, AbortController>());
  useEffect(() => {
    const open = uploads.current;
    return () => {
      for (const upload of open.values()) upload.abort();
    };
  }, []);
  const change = (key: number, changes: Partial<Attached>): void =>
    setItems((before) => before.map((each) => (each.key === key ? { ...each, ...changes } : each)));
  const send = async (key: number, file: File): Promise<void> => {
    const abort = new AbortController();
    uploads.current.set(key, abort);
    try {
      const upload = await uploadFile(file, { onProgress: (part) => change(key, { part }), signal: abort.signal });
      change(key, { state: 'ready', part: 1, upload });
    } catch (error) {
      change(key, { state: 'failed', problem: problemText(error) });
    } finally {
      uploads.current.delete(key);
    }
  };
  return {
    items,
    add: (files) => {
      for (const file of files) {
        lastKey.current += 1;
        const key = lastKey.current;
        setItems((before) => [...before, { key, file, state: 'sending', part: 0, upload: null, problem: null }]);
        void send(key, file);
      }
    },
    remove: (key) => {
      uploads.current.get(key)?.abort();
      setItems((before) => before.filter((each) => each.key !== key));
    },
    take: () => {
      setItems([]);
      return items;
    },
    restore: (taken) => setItems((before) => [...taken, ...before]),
  };
}
