/**
 * Files in and out: uploads, attachments of tasks and the artifacts that they make. The store counts and bounds each tenant's files in
 * Redis; their bytes are in a storage, on disk or in a bucket. A file is kept as long as a task has it.
 */
export { type Attachment, type AttachmentRequest, attachmentOfUrl, attachmentSchema } from './attachment.ts';
export { type FileLink, FileLinks } from './file-links.ts';
export { cleanFileName, cleanMediaType, contentDisposition, fileNameSchema, uniqueNames } from './file-name.ts';
export type { FileAttempt, KeptRunFile, StoredFile, TaskFile } from './file-records.ts';
export { FileStore, type KeptPlace, readAll, uploadNotFound } from './file-store.ts';
export { mediaTypeOf, mediaTypeOfName } from './extensions.ts';
export { ObjectArchive, openArchive } from './object-archive.ts';
export { openFiles, publicAddress } from './open-files.ts';
export { describeStorages, type NotedStorage, readStorages, StorageWatch } from './storage-watch.ts';
export type { FileSource } from './storage/spool.ts';
