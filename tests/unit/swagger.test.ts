import { expect, it } from 'vitest';
import { readSwaggerAsset } from '../../server/rest/swagger';

it.each(['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'])(
  '%s is in memory once, however many answers wait for their client',
  async (name) => {
    const [one, other] = await Promise.all([
      readSwaggerAsset(`/swagger/${name}`),
      readSwaggerAsset(`/swagger/${name}`),
    ]);
    expect(one!.body!.length).toBeGreaterThan(100);
    expect(other!.body).toBe(one!.body);
  },
);
