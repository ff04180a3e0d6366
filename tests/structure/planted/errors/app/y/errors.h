FOVEA_ERROR(invalid, twice, "again", "");
