import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { type FileLink, type FileLinks, fileNameSchema, type FileStore, mediaTypeOf } from '#shared/files/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import { tenantClosed, type TenantDirectory } from '#shared/tenants/index.ts';
import { fileSchema, sendFile } from './artifacts.ts';

interface LinkPorts {
  readonly files: FileStore;
  readonly fileLinks: FileLinks;
  readonly tenants: Pick<TenantDirectory, 'get'>;
}

/** Signed addresses of files, for agents that have no key: those behind HTTP, and daemons. */
export function fileLinkRoutes(ports: LinkPorts): Route[] {
  return [getLinkedFile(ports), putLinkedFile(ports)];
}

const pathSchema = z.object({
  signed: z.string().max(4000).meta({ description: 'What the agent was given; it is bound to one attempt and expires.' }),
});

/** `GET /files/:signed`: an attachment. */
function getLinkedFile(ports: LinkPorts): Route {
  return route({
    method: 'get',
    path: '/files/:signed',
    operationId: 'downloadLinkedFile',
    summary: 'Download a file by its signed address',
    tag: 'files',
    scope: 'none',
    errors: ['file.link-invalid', 'tenant.disabled', 'artifact.not-found', 'unavailable.files'],
    media: '*/*',
    request: { params: pathSchema },
    responses: { 200: fileSchema },
    handle: async ({ params }) => {
      const { tenant, file } = await openLink(ports, params.signed, 'get');
      return await sendFile(ports.files, tenant, await ports.files.find(tenant, file));
    },
  });
}

const addedSchema = z
  .strictObject({
    name: z.string().meta({ description: 'Under which the task has it.' }),
    mediaType: z.string().meta({ description: 'From `Content-Type`, else by the extension of the name.' }),
    bytes: z.int().meta({ description: 'Its size.' }),
  })
  .meta({ id: 'AddedArtifact', examples: [{ name: 'report.pdf', mediaType: 'application/pdf', bytes: 20_480 }] });

/** `PUT /files/:signed/:name`: an artifact of the attempt that the address was made for, while it runs. */
function putLinkedFile(ports: LinkPorts): Route {
  return route({
    method: 'put',
    path: '/files/:signed/:name',
    operationId: 'uploadLinkedFile',
    summary: 'Add a file to a running task by a signed address',
    description: 'A file of the same name is replaced. 409 `file.attempt-over` once the attempt has ended.',
    tag: 'files',
    scope: 'none',
    errors: [
      'file.link-invalid',
      'file.attempt-over',
      'tenant.disabled',
      'request.too-large',
      'limit.storage',
      'limit.bodies',
      'unavailable.files',
    ],
    takesFile: true,
    request: { params: pathSchema.extend({ name: fileNameSchema }), body: z.string().meta({ format: 'binary' }) },
    bodyMedia: ['*/*'],
    responses: { 201: addedSchema },
    handle: async ({ params: { signed, name } }, call) => {
      const { files } = ports;
      const by = await openLink(ports, signed, 'put');
      const described = { name, mediaType: mediaTypeOf(name, call.headers['content-type']) };
      const { mediaType, bytes } = await files.add(by, `out/${name}`, described, call.readFile(files.settings.maxFileBytes));
      return { status: 201, body: { name, mediaType, bytes } };
    },
  });
}

/** Errors: `file.link-invalid`, `tenant.disabled`. */
async function openLink<May extends FileLink['may']>(
  { fileLinks, tenants }: LinkPorts,
  signed: string,
  may: May,
): Promise<Extract<FileLink, { may: May }>> {
  const link = await fileLinks.verify(signed, Date.now());
  if (link?.may !== may) throw new MusterError('file.link-invalid', 'This address opens no file, or it has expired');
  // A tenant that was made a moment ago may not be known here yet; only one known to be disabled counts.
  if (tenants.get(link.tenant)?.disabled === true) throw tenantClosed(link.tenant, 'disabled');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the compiler does not narrow by a type parameter
  return link as Extract<FileLink, { may: May }>;
}
