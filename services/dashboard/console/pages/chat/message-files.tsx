import type { ReactElement } from 'react';
import { taskApiPath } from '../../api/task-ref.ts';
import { Icon } from '../../parts/icon.tsx';
import { bytesText } from '../../parts/numbers.tsx';
import classes from './attachments.module.css';
import type { MessageFile } from './conversation.ts';

/** Formats that every browser shows. */
const SHOWN = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml']);

interface MessageFilesProps {
  task: string;
  /** Whether the task was given them or made them. */
  kind: 'attachments' | 'artifacts';
  files: readonly MessageFile[];
}

/** The files of a message or of an answer: images are shown, and all can be saved. */
export function MessageFiles({ task, kind, files }: MessageFilesProps): ReactElement | null {
  if (files.length === 0) return null;
  const path = `${taskApiPath({ id: task })}/${kind}`;
  return (
    <ul className={classes['files']} data-kind={kind} aria-label={kind === 'attachments' ? 'Files of the message' : 'Files of the answer'}>
      {files.map(({ name, mediaType, bytes }) => {
        const href = `${path}/${encodeURIComponent(name)}`;
        return (
          <li key={name}>
            {/* A file that is fetched from an address is there only once the task has run. */}
            {SHOWN.has(mediaType) && bytes !== null ? <img src={href} alt={name} loading="lazy" className={classes['image']} /> : null}
            <a href={href} download={name} className={classes['file']}>
              <Icon name="file" size={14} />
              <span className={classes['name']}>{name}</span>
              {bytes === null ? null : <span className={classes['size']}>{bytesText(bytes)}</span>}
            </a>
          </li>
        );
      })}
    </ul>
  );
}
