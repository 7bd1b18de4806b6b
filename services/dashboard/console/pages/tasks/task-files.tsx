import type { ReactElement } from 'react';
import type { Artifact, TaskWithProgress } from '#shared/client/openapi.gen.ts';
import { taskApiPath, type TaskRef } from '../../api/task-ref.ts';
import classes from './tasks.module.css';

interface TaskFilesProps {
  taskRef: TaskRef;
  task: TaskWithProgress;
  artifacts: readonly Artifact[];
}

/** The files that a task was given and those that it made, to save. */
export function TaskFiles({ taskRef, task: { attachments, attempt }, artifacts }: TaskFilesProps): ReactElement | null {
  if (attachments.length + artifacts.length === 0) return null;
  // A link sends no header, so it reaches only the person's own tenant.
  const path = taskRef.tenant === null ? taskApiPath(taskRef) : null;
  // A file from an address has no size, and is there once the first attempt has begun.
  const given = attachments.map((file) => ({ ...file, isStored: file.bytes !== null || attempt > 0 }));
  const made = artifacts.map((file) => ({ ...file, isStored: true }));
  return (
    <div className={classes['columns']}>
      <FileList title="Attachments" files={given} path={path && `${path}/attachments`} />
      <FileList title="Artifacts" files={made} path={path && `${path}/artifacts`} />
    </div>
  );
}

interface FileListProps {
  title: string;
  files: readonly { name: string; bytes: number | null; isStored: boolean }[];
  /** Where the files are; null when this browser cannot get them. */
  path: string | null;
}

function FileList({ title, files, path }: FileListProps): ReactElement | null {
  if (files.length === 0) return null;
  return (
    <section className="card" aria-label={title}>
      <h2>{title}</h2>
      <ul className={classes['files']}>
        {files.map(({ name, bytes, isStored }) => (
          <li key={name}>
            {path !== null && isStored ? (
              <a href={`${path}/${encodeURIComponent(name)}`} download={name}>
                {name}
              </a>
            ) : (
              <span>{name}</span>
            )}
            {bytes === null ? null : <span className="faint">{sizeText(bytes)}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

const KIB = 1024;
const UNITS = ['KiB', 'MiB', 'GiB'];

/** A size for people: `512 bytes`, `1.5 KiB`. */
function sizeText(bytes: number): string {
  if (bytes < KIB) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  const step = Math.min(Math.floor(Math.log(bytes) / Math.log(KIB)), UNITS.length);
  return `${(bytes / KIB ** step).toFixed(1)} ${UNITS[step - 1] ?? ''}`;
}
