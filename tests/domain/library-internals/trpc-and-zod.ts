import { initTRPC, TRPCError } from '@trpc/server';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { expect, vi } from 'vitest';
import { z } from 'zod';
import { parseCompiled } from '../../../contract/zod-internals';
import { listProcedures, runProcedure, writeError } from '../../../server/rest/trpc-internals';
import { describeReaches, readVersion } from './reaches';

const trpc = initTRPC.context<{ caller: string }>().create({
  errorFormatter: ({ shape: { data, ...shape } }) => ({ ...shape, data: { code: data.code, path: data.path, own: 1 } }),
});
const router = trpc.router({
  sums: trpc.router({
    add: trpc.procedure
      .meta({ told: true })
      .use(({ ctx, meta, type, path, next }) => next({ ctx: { seen: `${ctx.caller} ${type} ${path} ${!!meta}` } }))
      .input(z.object({ a: z.string().transform(Number), b: z.number().max(9) }))
      .output(z.object({ sum: z.number(), seen: z.string() }))
      .mutation(({ ctx, input: { a, b } }) => {
        if (b < 0) throw new RangeError('of the resolver');
        return { sum: b === 0 ? ('none' as never) : a + b, seen: ctx.seen, hidden: 'by the output' };
      }),
  }),
});
const path = 'sums.add';
const ctx = { caller: 'me' };

export function registerTrpcReaches(): void {
  describeReaches(
    '@trpc/server',
    { version: readVersion('@trpc/server'), writtenFor: /^11\.22\./, file: 'server/rest/trpc-internals.ts' },
    {
      '`_def.procedures` holds the procedures of a router by name': async () => {
        const procedures = listProcedures(router);
        expect(Object.keys(procedures)).toEqual([path]);
        expect([procedures[path]!.meta, procedures[path]!._def.type]).toEqual([{ told: true }, 'mutation']);
      },

      '`_def.middlewares` holds the steps of a procedure, which call each other as in the public caller': async () => {
        const procedure = listProcedures(router)[path]!;
        const settle = (result: Promise<unknown>) =>
          result.then(
            (data) => ({ data }),
            ({ name, code, message, cause }: TRPCError) => ({ name, code, message, cause }),
          );
        const answers = [];
        for (const input of [
          { a: '1', b: 2 },
          { a: '1', b: 10 },
          { a: '1', b: -1 },
          { a: '1', b: 0 },
        ]) {
          const answer = await settle(runProcedure(procedure, { ctx, path, type: 'mutation', input }));
          expect(answer).toEqual(await settle(router.createCaller(ctx).sums.add(input)));
          answers.push(answer);
        }
        expect(answers).toMatchObject([
          { data: { sum: 3, seen: 'me mutation sums.add true' } },
          { code: 'BAD_REQUEST', cause: { issues: [{ path: ['b'] }] } },
          { code: 'INTERNAL_SERVER_ERROR', cause: new RangeError('of the resolver') },
          { code: 'INTERNAL_SERVER_ERROR', message: 'Output validation failed' },
        ]);
      },

      '`_def._config` holds how a router writes its errors': async () => {
        const response = await fetchRequestHandler({
          endpoint: '/trpc',
          req: new Request(`http://127.0.0.1/trpc/${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: '{"a":"1","b":-1}',
          }),
          router,
          createContext: () => ctx,
        });
        const error = new TRPCError({ code: 'INTERNAL_SERVER_ERROR', message: 'of the resolver' });
        const written = { error: writeError(router, { error, path, ctx }) };
        expect(written).toMatchObject({ error: { data: { own: 1 } } });
        expect(await response.json()).toEqual(written);
      },
    },
  );

  describeReaches(
    'zod',
    { version: readVersion('zod'), writtenFor: /^4\.6\./, file: 'contract/zod-internals.ts' },
    {
      'tRPC parses answers by the `parseAsync` of a schema, which can be replaced': async () => {
        const schema = parseCompiled(z.object({ id: z.string() }));
        const parse = vi.spyOn(schema, 'parse');
        const procedure = trpc.procedure.output(schema).query(() => ({ id: 'a', hidden: 1 }));
        expect(await trpc.router({ procedure }).createCaller(ctx).procedure()).toEqual({ id: 'a' });
        expect(parse).toHaveBeenCalledOnce();
      },

      'the asynchronous parser is not compiled (if it is one day, the file can go)': async () => {
        const compile = vi.spyOn(globalThis, 'Function');
        await z.object({ id: z.string() }).parseAsync({ id: 'a' });
        expect(compile).not.toHaveBeenCalled();
        await parseCompiled(z.object({ id: z.string() })).parseAsync({ id: 'a' });
        expect(compile).toHaveBeenCalled();
        compile.mockRestore();
      },
    },
  );
}
