import { z } from 'zod';

/** A long answer, written piece by piece as fast as the caller reads it. REST puts it into the envelope. */
export class JsonFile {
  readonly name: string;
  readonly pieces: AsyncGenerator<string, void, undefined>;
  constructor(name: string, pieces: AsyncGenerator<string, void, undefined>) {
    this.name = name;
    this.pieces = pieces;
  }
}

/** The output of a procedure that answers a file. The document shows the schema of the JSON in it. */
export const jsonFileOf = (schema: z.ZodType) => {
  const { $schema: _, ...shown } = z.toJSONSchema(schema);
  return z
    .custom<JsonFile>((value) => value instanceof JsonFile)
    .meta({ override: ({ jsonSchema }) => void Object.assign(jsonSchema, shown) });
};
