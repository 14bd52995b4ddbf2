/** @type {import('next').NextConfig} */
export default {
  serverExternalPackages: ['postgres'],
  experimental: { externalDir: true },
  typescript: { ignoreBuildErrors: true },
};
